import type { InputBlock } from '../schema/message.ts';

const KINDS = ['image', 'audio', 'video'] as const;

/** `btoa` takes a string of one character per byte, and a call takes so many arguments. */
const CHUNK = 32 * 1024;

/**
 * A file as content of a message: by its media type an image, audio, video, or else a document.
 *
 * @param title shown with the file, and read by models that cannot be sent it; default: the name of a `File`
 * @throws TypeError when the blob has no media type
 * @example
 * const photo = await fileBlock(new File([await readFile('cat.png')], 'cat.png', { type: 'image/png' }));
 * const content = [{ type: 'text', text: 'What is this?' } as const, photo];
 * const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content }] });
 */
export const fileBlock = async (file: Blob, title = nameOf(file)): Promise<InputBlock> => {
  const media_type = file.type;
  if (media_type === '') throw new TypeError('the blob has no media type: set `type`, such as image/png');
  const data = base64Of(new Uint8Array(await file.arrayBuffer()));
  return {
    type: KINDS.find((kind) => media_type.startsWith(`${kind}/`)) ?? 'document',
    source: { type: 'base64', media_type, data },
    ...(title && { title }),
  };
};

const nameOf = (file: Blob): string | undefined =>
  'name' in file && typeof file.name === 'string' ? file.name : undefined;

const base64Of = (bytes: Uint8Array): string => {
  let text = '';
  for (let from = 0; from < bytes.length; from += CHUNK)
    text += String.fromCharCode(...bytes.subarray(from, from + CHUNK));
  return btoa(text);
};
