const { Given, Then } = require('@cucumber/cucumber')
const { equal } = require('node:assert/strict')

Given('a cart', function () {
  this.articles = 0
})
Then('it has {int} articles', function (articles) {
  equal(this.articles, articles)
})
