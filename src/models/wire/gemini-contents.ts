import type { JsonObject } from '../../schema/json.ts';
import { pairedParts } from './gemini-built-in-tools.ts';
import { readSigned } from './gemini-items.ts';
import type { FilePart } from './prompt-media.ts';
import type { AssistantPart, PromptWriter, ResultPart, TextPart } from './prompt-parts.ts';

/**
 * The history as `contents` and `systemInstruction`.
 *
 * Guarantees: every content has parts; the calls of a model's content are followed by one content with one response for
 * each of them, in their order; a content with calls follows one of the user. Gemini refuses a request otherwise.
 */

type Rules = {
  /** The service accepts ids of calls and results. */
  callIds: boolean;
  /** Each call needs a signature. */
  needsSignatures: boolean;
  /** The model has no system instruction; system texts go before the first text of the user. */
  systemInContents: boolean;
};

type Content = { role: 'user' | 'model'; parts: JsonObject[] };

/** Documented for calls whose signature is not known, such as those of another model. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

export const createContents = (rules: Rules): PromptWriter & { body(): JsonObject } => {
  const system: string[] = [];
  const contents: Content[] = [];
  return {
    system(text) {
      system.push(text);
    },
    user(parts) {
      contents.push({ role: 'user', parts: parts.map(userPart) });
    },
    assistant(given) {
      const parts = pairedParts(modelParts(given, rules));
      if (parts.length === 0) return;
      const last = contents.at(-1);
      if (last?.role === 'model') last.parts.push(...parts);
      else contents.push({ role: 'model', parts });
    },
    results(results) {
      contents.push({ role: 'user', parts: results.map((result) => responsePart(result, rules)) });
    },
    body() {
      if (rules.systemInContents) addSystem(contents, system);
      if (!contents[0] || (contents[0].role === 'model' && hasCalls(contents[0])))
        contents.unshift({ role: 'user', parts: [{ text: '(empty message)' }] });
      const parts = rules.systemInContents ? [] : system.map((text) => ({ text }));
      return { ...(parts.length > 0 && { systemInstruction: { parts } }), contents };
    },
  };
};

const hasCalls = ({ parts }: Content): boolean => parts.some((part) => 'functionCall' in part);

const addSystem = (contents: Content[], system: readonly string[]): void => {
  if (system.length === 0) return;
  const text = `${system.join('\n\n')}\n\n`;
  if (contents[0]?.role === 'user') contents[0].parts.unshift({ text });
  else contents.unshift({ role: 'user', parts: [{ text }] });
};

const userPart = (part: TextPart | FilePart): JsonObject =>
  part.type === 'text' ? { text: part.text } : filePart(part);

const DATA_URL = /^data:([^;,]+);base64,/;

const filePart = ({ mediaType, data }: FilePart): JsonObject => {
  const mimeType = mediaType === 'image/*' ? 'image/jpeg' : mediaType;
  if ('base64' in data) return { inlineData: { mimeType, data: data.base64 } };
  const inline = DATA_URL.exec(data.url);
  return inline?.[1] === undefined
    ? { fileData: { mimeType, fileUri: data.url } }
    : { inlineData: { mimeType: inline[1], data: data.url.slice(inline[0].length) } };
};

const responsePart = ({ id, name, text, content = [] }: ResultPart, { callIds }: Rules): JsonObject => {
  const files = content.filter((part) => part.type === 'file');
  return {
    functionResponse: {
      ...(callIds && { id }),
      name,
      response: { name, content: text },
      ...(files.length > 0 && { parts: files.map(filePart) }),
    },
  };
};

const modelParts = (given: readonly AssistantPart[], { callIds, needsSignatures }: Rules): JsonObject[] => {
  const parts: JsonObject[] = [];
  let ofCall: string | undefined;
  let ofText: { signature: string; length: number } | undefined;
  /** The first of parallel calls has the signature of all. */
  let isSigned = false;
  for (const part of given) {
    if (ofText && part.type !== 'text') {
      parts.push({ text: '', thoughtSignature: ofText.signature });
      ofText = undefined;
    }
    switch (part.type) {
      case 'text':
        parts.push(...textParts(part.text, ofText));
        ofText = undefined;
        break;
      case 'thought':
        parts.push({ text: part.text, thought: true });
        break;
      case 'file':
        parts.push(filePart(part));
        break;
      case 'item': {
        const signed = readSigned(part.item);
        if (signed?.on === 'part') parts.push(signed.part);
        else if (signed?.on === 'text') ofText = signed;
        else ofCall = signed?.signature;
        break;
      }
      case 'call': {
        const { id, name, input } = part;
        const thoughtSignature = ofCall ?? (needsSignatures && !isSigned ? NO_SIGNATURE : undefined);
        isSigned ||= ofCall !== undefined;
        ofCall = undefined;
        parts.push({
          functionCall: { ...(callIds && { id }), name, args: input },
          ...(thoughtSignature !== undefined && { thoughtSignature }),
        });
      }
    }
  }
  if (ofText) parts.push({ text: '', thoughtSignature: ofText.signature });
  return parts;
};

/** The text that came with a signature, and what the answer continued with. */
const textParts = (text: string, signed: { signature: string; length: number } | undefined): JsonObject[] => {
  if (!signed) return [{ text }];
  const { length } = signed;
  // A service may have cut a character in two.
  const isCut = length > 0 && text.codePointAt(length - 1) !== text.charCodeAt(length - 1);
  const end = isCut ? length + 1 : length;
  const rest = text.slice(end);
  return [
    { text: text.slice(0, end), thoughtSignature: signed.signature },
    ...(rest.trim() === '' ? [] : [{ text: rest }]),
  ];
};
