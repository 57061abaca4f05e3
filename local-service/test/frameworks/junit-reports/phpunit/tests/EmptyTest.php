<?php

namespace Shop;

use PHPUnit\Framework\TestCase;

class EmptyTest extends TestCase
{
}
