<?php

namespace Shop;

use PHPUnit\Framework\TestCase;

class RiskyTest extends TestCase
{
    public function testIsRisky(): void
    {
    }

    public function testIsFine(): void
    {
        $this->assertTrue(true);
    }
}
