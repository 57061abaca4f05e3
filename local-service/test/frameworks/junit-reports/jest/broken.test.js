require('./nothing-here.js')
