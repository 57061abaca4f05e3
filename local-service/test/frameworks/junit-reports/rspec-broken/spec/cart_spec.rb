RSpec.describe 'cart' do
  it 'adds' do
  end

  it 'fails' do
    expect(1).to eq(2)
  end

  xit 'is skipped' do
  end

  it 'is to do'

  context 'once' do
    it 'adds only once' do
    end
  end

  context 'with a hook' do
    before { raise 'no database' }

    it 'never runs' do
    end
  end
end
