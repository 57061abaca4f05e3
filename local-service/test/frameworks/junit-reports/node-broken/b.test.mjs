import './nothing.mjs'
