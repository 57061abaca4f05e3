package shop;

public class Cart {
  public static int pay(int money) {
    if (money < 1) throw new IllegalStateException("no & money");
    return money;
  }
}
