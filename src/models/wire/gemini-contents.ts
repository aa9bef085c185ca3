import type { JsonObject } from '../../schema/json.ts';
import { splitDataUrl } from '../../schema/media.ts';
import { pairedParts } from './gemini-built-in-tools.ts';
import { readSigned } from './gemini-items.ts';
import { type FilePart, textOfFile } from './prompt-media.ts';
import type { AssistantPart, CallPart, PromptWriter, ResultPart, TextPart } from './prompt-parts.ts';

/**
 * Writes the history as `contents` and `systemInstruction`.
 *
 * Guarantees: every content has parts; the calls of a model's content are followed by one content with one response for
 * each of them, in their order; a content with calls follows one of the user. Gemini would otherwise reject the
 * request.
 */

type Rules = {
  /** Whether the service accepts ids of calls and results. */
  callIds: boolean;
  /** Whether each call requires a signature. */
  needsSignatures: boolean;
  /** Whether the model lacks a system instruction; system texts then precede the first text of the user. */
  systemInContents: boolean;
};

type Content = { role: 'user' | 'model'; parts: JsonObject[] };

/** The documented placeholder for calls with an unknown signature, such as those of another model. */
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

/** The service rejects text files with types such as `application/json`, so they are sent as text. */
const userPart = (part: TextPart | FilePart): JsonObject => {
  if (part.type === 'text') return { text: part.text };
  const text = part.mediaType.startsWith('application/') ? textOfFile(part) : undefined;
  return text === undefined ? filePart(part) : { text };
};

const filePart = ({ mediaType, data }: FilePart): JsonObject => {
  if ('base64' in data) return { inlineData: { mimeType: mediaType, data: data.base64 } };
  const inline = splitDataUrl(data.url);
  return inline
    ? { inlineData: { mimeType: inline.media_type, data: inline.data } }
    : { fileData: { mimeType: mediaType === 'image/*' ? 'image/jpeg' : mediaType, fileUri: data.url } };
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

const modelParts = (given: readonly AssistantPart[], rules: Rules): JsonObject[] => {
  const parts: JsonObject[] = [];
  const signatures: Signatures = { ofCall: undefined, ofText: undefined, isSigned: false };
  for (const part of given) {
    if (part.type !== 'text') parts.push(...signatureOfMissingText(signatures));
    switch (part.type) {
      case 'text':
        parts.push(...textParts(part.text, signatures.ofText));
        signatures.ofText = undefined;
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
        else if (signed?.on === 'text') signatures.ofText = signed;
        else signatures.ofCall = signed?.signature;
        break;
      }
      case 'call':
        parts.push(callPart(part, signatures, rules));
    }
  }
  return [...parts, ...signatureOfMissingText(signatures)];
};

/** The signatures that belong to the parts after them. */
type Signatures = {
  ofCall: string | undefined;
  ofText: { signature: string; length: number } | undefined;
  /** The first of several parallel calls has the signature of all. */
  isSigned: boolean;
};

/** A part for a signature whose text does not follow. */
const signatureOfMissingText = (signatures: Signatures): JsonObject[] => {
  const { ofText } = signatures;
  if (!ofText) return [];
  signatures.ofText = undefined;
  return [{ text: '', thoughtSignature: ofText.signature }];
};

const callPart = (
  { id, name, input }: CallPart,
  signatures: Signatures,
  { callIds, needsSignatures }: Rules,
): JsonObject => {
  const { ofCall, isSigned } = signatures;
  const thoughtSignature = ofCall ?? (needsSignatures && !isSigned ? NO_SIGNATURE : undefined);
  signatures.isSigned ||= ofCall !== undefined;
  signatures.ofCall = undefined;
  return {
    functionCall: { ...(callIds && { id }), name, args: input },
    ...(thoughtSignature !== undefined && { thoughtSignature }),
  };
};

/** Splits the text that arrived with a signature from the rest of the completion's text. */
const textParts = (text: string, signed: { signature: string; length: number } | undefined): JsonObject[] => {
  if (!signed) return [{ text }];
  const { length } = signed;
  // The service may have split a surrogate pair.
  const isCut = length > 0 && text.codePointAt(length - 1) !== text.charCodeAt(length - 1);
  const end = isCut ? length + 1 : length;
  const rest = text.slice(end);
  return [
    { text: text.slice(0, end), thoughtSignature: signed.signature },
    ...(rest.trim() === '' ? [] : [{ text: rest }]),
  ];
};
