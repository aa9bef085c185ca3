/** Display of a prompt while it is being edited. */

export type Piece = { at: number; text: string; isVariable: boolean };

/** Splits a line: `{name}` and `{{name}}` are variables. An empty line yields one empty piece. */
export const piecesOf = (line: string): Piece[] => {
  const pieces: Piece[] = [];
  let last = 0;
  for (const { index, 0: text } of line.matchAll(/\{\{\s*[\w.-]+\s*\}\}|\{[\w.-]+\}/g)) {
    if (index > last) pieces.push({ at: last, text: line.slice(last, index), isVariable: false });
    pieces.push({ at: index, text, isVariable: true });
    last = index + text.length;
  }
  if (last < line.length || pieces.length === 0)
    pieces.push({ at: last, text: line.slice(last), isVariable: false });
  return pieces;
};

export type Counts = { characters: number; lines: number; tokens: number };

/** The number of tokens is an estimate of four characters each. */
export const countsOf = (text: string): Counts => ({
  characters: text.length,
  lines: text === '' ? 0 : text.split('\n').length,
  tokens: Math.ceil(text.length / 4),
});
