Feature: cart
  Scenario: adds
    Given a cart
    Then it has 0 articles

  Scenario: fails
    Given a cart
    Then it has 2 articles

  Scenario: is undefined
    Given a cart that nobody knows

  Scenario Outline: counts <n>
    Given a cart
    Then it has <n> articles
    Examples:
      | n |
      | 0 |
      | 1 |
