type Cell = string | number | undefined;

/** Prevents spreadsheet programs from evaluating a text as a formula. */
const inert = (text: string): string =>
  /^[=+\-@\t\r]/.test(text) && !/^-?\d/.test(text) ? `'${text}` : text;

const cellOf = (value: Cell): string => {
  const text = inert(String(value ?? ''));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** CSV according to RFC 4180. */
export const toCsv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
