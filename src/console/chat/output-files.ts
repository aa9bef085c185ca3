import type { FileUIPart } from 'ai';
import { replaceMedia } from '../../schema/embedded-media.ts';
import type { Json } from '../../schema/json.ts';

/** The distinct files within the output of a tool, and the output with each file replaced by its name. */
export const withoutFiles = (output: unknown): { shown: unknown; files: readonly FileUIPart[] } => {
  const files = new Map<string, FileUIPart>();
  // The output was parsed from JSON.
  const shown = replaceMedia(output as Json, ({ type: mediaType, data, name }) => {
    const base64 = data.replaceAll(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/');
    const url = `data:${mediaType};base64,${base64}`;
    files.set(url, { type: 'file', mediaType, url, ...(name && { filename: name }) });
    return name ?? mediaType;
  });
  return { shown, files: [...files.values()] };
};
