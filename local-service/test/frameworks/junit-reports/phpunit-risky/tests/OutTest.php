<?php
use PHPUnit\Framework\TestCase;
class OutTest extends TestCase {
  public function testPrints(): void { echo "hi"; $this->assertTrue(true); }
}
