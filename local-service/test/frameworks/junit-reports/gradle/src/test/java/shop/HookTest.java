package shop;

import org.junit.BeforeClass;
import org.junit.Test;

public class HookTest {
  @BeforeClass
  public static void open() {
    throw new RuntimeException("no database");
  }

  @Test
  public void neverRuns() {}
}
