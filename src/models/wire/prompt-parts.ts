import type { JsonObject } from '../../schema/json.ts';
import type { ProviderToolType } from '../../schema/provider-tool.ts';
import type { FilePart } from './prompt-media.ts';

/** The pieces of a prompt, as a format receives them. */

export type TextPart = { type: 'text'; text: string };

export type CallPart = { type: 'call'; id: string; name: string; input: JsonObject };

/** Text of reasoning that came as a block of a message, from a client or another service. */
export type ThoughtPart = { type: 'thought'; text: string };

/**
 * What the decoder of the same format gave to `reasoningItem`. It belongs to what follows it, unless it is of a `tool`
 * of the provider.
 */
export type ItemPart = { type: 'item'; item: JsonObject; tool?: ProviderToolType };

export type AssistantPart = TextPart | FilePart | CallPart | ThoughtPart | ItemPart;
export type UserPart = TextPart | FilePart;
export type ResultPart = {
  id: string;
  name: string;
  /** All of it; files are described. */
  text: string;
  /** In order, where files are sent within the result. */
  content?: readonly (TextPart | FilePart)[];
};

/** `isStable`: the provider may keep everything up to here, because the next request begins with it. */
export type PromptWriter = {
  system(text: string, isStable: boolean): void;
  user(parts: readonly UserPart[], isStable: boolean): void;
  assistant(parts: readonly AssistantPart[], isStable: boolean): void;
  results(results: readonly ResultPart[], isStable: boolean): void;
};
