import type { FormatName } from './request.ts';

/** Position of the text in an event of each wire format. Only the fields that a proxy needs are declared. */

type ChatEvent = { choices?: { delta?: { content?: string | null } }[] };
type ResponsesEvent = { type: string; delta?: string };
type AnthropicEvent = { type: string; delta?: { type?: string; text?: string } };
type GeminiEvent = { candidates?: { content?: { parts?: { text?: string; thought?: boolean }[] } }[] };

/** The text of an event, or '' for an event without text. Parses the whole event. */
export const PARSE_TEXT: Readonly<Record<FormatName, (data: string) => string>> = {
  'openai-chat': (data) => {
    const event: ChatEvent = JSON.parse(data);
    return event.choices?.[0]?.delta?.content ?? '';
  },
  'openai-responses': (data) => {
    const event: ResponsesEvent = JSON.parse(data);
    return event.type === 'response.output_text.delta' ? (event.delta ?? '') : '';
  },
  anthropic: (data) => {
    const event: AnthropicEvent = JSON.parse(data);
    return event.type === 'content_block_delta' ? (event.delta?.text ?? '') : '';
  },
  gemini: (data) => {
    const event: GeminiEvent = JSON.parse(data);
    const [part] = event.candidates?.[0]?.content?.parts ?? [];
    return part?.thought ? '' : (part?.text ?? '');
  },
};
