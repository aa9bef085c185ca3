/** Fits texts to a terminal, and neutralizes control characters. */

const CONTROL = /\p{Cc}/gu;

/** Foreign text may contain sequences that move the cursor or set the title; they are escaped. */
export const harmless = (text: string): string =>
  text.replaceAll(CONTROL, (control) => `\\x${(control.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`);

export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;

/** Wraps at this width; a longer word gets a separate line. */
export const wrapped = (text: string, width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
};

/** Long ids start with the time, so the suffix is shown. */
export const shortId = (id: string): string => (id.length > 12 ? `…${id.slice(-8)}` : id);

export const duration = (seconds: number): string => {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.floor(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

export const amount = (count: number): string => count.toLocaleString('en-US');

export const counted = (count: number, what: string): string =>
  `${amount(count)} ${what}${count === 1 ? '' : 's'}`;

/** Local time of the host in hours, minutes and seconds. */
export const timeOfDay = (at: Date): string =>
  [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
