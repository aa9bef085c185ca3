import type { JsonObject } from '../../schema/json.ts';
import type { ProviderToolType } from '../../schema/provider-tool.ts';
import type { FilePart } from './prompt-media.ts';

/** The pieces of a prompt, as a format receives them. */

export type TextPart = { type: 'text'; text: string };

export type CallPart = { type: 'call'; id: string; name: string; input: JsonObject };

/** Reasoning text in a block of a message, from a client or another service. */
export type ThoughtPart = { type: 'thought'; text: string };

/**
 * An item that the decoder of the same format passed to `reasoningItem`. It belongs to the output after it, unless it
 * is of a `tool` of the provider.
 */
export type ItemPart = { type: 'item'; item: JsonObject; tool?: ProviderToolType };

export type AssistantPart = TextPart | FilePart | CallPart | ThoughtPart | ItemPart;
export type UserPart = TextPart | FilePart;
export type ResultPart = {
  id: string;
  name: string;
  /** The whole text; files are described. */
  text: string;
  /** The content in order, if it contains files. */
  content?: readonly (TextPart | FilePart)[];
};

/** `isStable`: the provider may cache everything up to here, because the next request begins with it. */
export type PromptWriter = {
  system(text: string, isStable: boolean): void;
  user(parts: readonly UserPart[], isStable: boolean): void;
  assistant(parts: readonly AssistantPart[], isStable: boolean): void;
  results(results: readonly ResultPart[], isStable: boolean): void;
};

export const isBlank = (text: string): boolean => text.trim() === '';

/** Providers reject blank texts and lone surrogates. */
export const textParts = (text: string): TextPart[] =>
  isBlank(text) ? [] : [{ type: 'text', text: text.toWellFormed() }];
