#[cfg(test)]
mod tests {
    #[test]
    fn adds() {}

    #[test]
    fn fails() {
        assert_eq!(1, 2);
    }
}
