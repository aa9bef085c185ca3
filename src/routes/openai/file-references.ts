import { ownPartition } from '../../identity/access/own.ts';
import { fileNotFound } from '../../protocols/openai/errors.ts';
import type { InputEntry } from '../../protocols/openai/input.ts';
import type { ContentBlock } from '../../schema/message.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { Principal } from '../../schema/principal.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/**
 * References to files in the content of requests (openai.md 9.3): each file must exist and belong to the caller. They
 * are accepted here, before anything is written, because only a route knows the paths of the parts; histories and items
 * of conversations are accepted nowhere else.
 */

type Deps = Pick<OpenAiDeps, 'acceptFiles'>;

/** @param pathOf returns the path of the part of a block @throws OpenAiError */
export const acceptReferences = (
  { acceptFiles }: Deps,
  principal: Principal,
  content: readonly ContentBlock[],
  pathOf: (block: ContentBlock, index: number) => string | undefined,
): ContentBlock[] =>
  content.map((block, index) => {
    if (!('source' in block) || block.source.type !== 'file') return block;
    try {
      return acceptFiles(ownPartition(principal), [block])[0] ?? block;
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      throw fileNotFound(block.source.file_id, pathOf(block, index) ?? null);
    }
  });

/** @throws OpenAiError */
export const acceptEntries = (
  deps: Deps,
  principal: Principal,
  entries: readonly InputEntry[],
): InputEntry[] =>
  entries.map((entry) => {
    if (entry.kind !== 'message') return entry;
    const { content, at } = entry;
    return {
      ...entry,
      content: acceptReferences(deps, principal, content, (_, index) => `${at}.content[${index}]`),
    };
  });
