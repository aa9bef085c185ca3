/** Whole frames, each with its empty line. There is none inside of a frame, as JSON has no line breaks. */
export const splitFrames = (text: string): string[] =>
  text === ''
    ? []
    : text
        .slice(0, -2)
        .split('\n\n')
        .map((each) => `${each}\n\n`);
