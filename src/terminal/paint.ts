import { styleText } from 'node:util';

/** Colors on terminals, unless NO_COLOR or FORCE_COLOR override this. */

export type Tone = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';
export type Paint = (tone: Tone, text: string) => string;

export const paintFor = (stream: NodeJS.WritableStream): Paint =>
  styleText('red', '.', { stream }) === '.' ? plain : coloured;

export const plain: Paint = (_, text) => text;

export const coloured: Paint = (tone, text) => styleText(tone, text, { validateStream: false });
