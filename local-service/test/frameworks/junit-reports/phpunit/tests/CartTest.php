<?php

namespace Shop;

use PHPUnit\Framework\TestCase;

class CartTest extends TestCase
{
    public function testAdds(): void
    {
        $this->assertSame(1, 1);
    }

    public function testFails(): void
    {
        $this->assertSame(1, 2);
    }

    public function testThrows(): void
    {
        throw new \RuntimeException('no database');
    }

    public function testSkipped(): void
    {
        $this->markTestSkipped('later');
    }

    public function testIncomplete(): void
    {
        $this->markTestIncomplete('to do');
    }

    /** @dataProvider numbers */
    public function testTable(int $number): void
    {
        $this->assertSame(1, $number);
    }

    public function numbers(): array
    {
        return ['one' => [1], 'two' => [2]];
    }
}
