require 'nothing_here'

RSpec.describe 'cart' do
  it 'adds' do
  end
end
