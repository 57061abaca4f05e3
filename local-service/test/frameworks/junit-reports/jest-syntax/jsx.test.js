test('renders', () => {
  return <b>1</b>
})
