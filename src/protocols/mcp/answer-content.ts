import type { CallToolResult } from '@modelcontextprotocol/server';
import type { PartBlock } from '../../schema/answer-part.ts';
import { describeMedia } from '../../schema/described-media.ts';
import { JSON_TYPE } from '../../schema/media.ts';

/**
 * Converts files of a response to content of a result. Images and audio have dedicated forms, other bytes and data are
 * embedded resources, and a URL is text, because clients of 2025-03-26 reject links to resources.
 */
export const contentOfFiles = (files: readonly PartBlock[], run_id: string): CallToolResult['content'] =>
  files.map((block, index) => contentOf(block, `troupe:runs/${encodeURIComponent(run_id)}/files/${index}`));

const contentOf = (block: PartBlock, uri: string): CallToolResult['content'][number] => {
  if (block.type === 'text')
    return { type: 'resource', resource: { uri, mimeType: JSON_TYPE, text: block.text } };
  const { type, source } = block;
  if (source.type !== 'base64') return { type: 'text', text: describeMedia(block) };
  const { media_type: mimeType, data } = source;
  if (type === 'image' || type === 'audio') return { type, mimeType, data };
  return { type: 'resource', resource: { uri, mimeType, blob: data } };
};
