import './nothing-here.js'
