throw new Error('a cannot be loaded')
