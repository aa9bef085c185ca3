/**
 * Splits a text into complete frames with their empty line. JSON has no line breaks, so a frame contains no other empty
 * line.
 */
export const splitFrames = (text: string): string[] =>
  text === ''
    ? []
    : text
        .slice(0, -2)
        .split('\n\n')
        .map((each) => `${each}\n\n`);
