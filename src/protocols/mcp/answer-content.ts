import type { CallToolResult } from '@modelcontextprotocol/server';
import type { PartBlock } from '../../schema/answer-part.ts';
import { describeMedia } from '../../schema/described-media.ts';
import { JSON_TYPE } from '../../schema/media.ts';

/** The forms that a client accepts. */
export type ContentForms = {
  /** Returns an absolute link to an uploaded file. */
  linkTo(file_id: string): string;
  /** False for clients of 2025-03-26, which reject links to resources. */
  takesLinks: boolean;
};

/**
 * Converts files of a response to content of a result. Images and audio have dedicated forms, other bytes and data are
 * embedded resources, uploaded files are links to resources (openai.md 9.3), and a URL is text.
 */
export const contentOfFiles = (
  files: readonly PartBlock[],
  run_id: string,
  forms: ContentForms,
): CallToolResult['content'] =>
  files.map((block, index) =>
    contentOf(block, `troupe:runs/${encodeURIComponent(run_id)}/files/${index}`, forms),
  );

const contentOf = (
  block: PartBlock,
  uri: string,
  { linkTo, takesLinks }: ContentForms,
): CallToolResult['content'][number] => {
  if (block.type === 'text')
    return { type: 'resource', resource: { uri, mimeType: JSON_TYPE, text: block.text } };
  const { type, source, title } = block;
  if (source.type === 'url') return { type: 'text', text: describeMedia(block) };
  if (source.type === 'file') {
    const { file_id, media_type, bytes } = source;
    if (!takesLinks) return { type: 'text', text: `${describeMedia(block)} ${linkTo(file_id)}` };
    return {
      type: 'resource_link',
      uri: linkTo(file_id),
      name: title ?? file_id,
      ...(media_type !== undefined && { mimeType: media_type }),
      ...(bytes !== undefined && { size: bytes }),
    };
  }
  const { media_type: mimeType, data } = source;
  if (type === 'image' || type === 'audio') return { type, mimeType, data };
  return { type: 'resource', resource: { uri, mimeType, blob: data } };
};
