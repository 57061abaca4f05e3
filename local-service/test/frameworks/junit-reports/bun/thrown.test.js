// throws when it is loaded
throw new Error('cannot be loaded')
