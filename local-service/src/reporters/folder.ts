/** The frameworks load the files of this folder by their paths. */
export const REPORTERS_FOLDER = import.meta.dirname
