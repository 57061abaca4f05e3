package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class CartTest {
  private static int tries = 0;

  @Test
  public void adds() {}

  @Test
  public void fails() {
    assertEquals("the total", "1 < 2", "2");
  }

  @Test
  public void pays() {
    Cart.pay(0);
  }

  @Test
  public void flaky() {
    tries += 1;
    assertEquals("try " + tries, 2, tries);
  }

  @Test(timeout = 50)
  public void hangs() throws InterruptedException {
    Thread.sleep(60_000);
  }

  @Ignore
  @Test
  public void isSkipped() {}
}
