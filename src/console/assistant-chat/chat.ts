import type { UIMessage } from 'ai';
import { useEffect } from 'react';
import { callsIn } from '../chat/call.ts';
import { createRunChat, type RunChat, useRunChat } from '../chat/run-chat.ts';
import type { Talk } from '../chat/talk.ts';
import { changed } from '../data/records.ts';
import { token } from '../data/session.ts';
import { actionOf } from './actions.ts';

/**
 * The single conversation with the assistant, shared by its screen and its panel. It lasts until the page is closed.
 */

let shared: RunChat | undefined;

const conversation = (): RunChat => {
  shared ??= createRunChat('admin-assistant', '/v1/admin/assistant/runs', ({ messages }) => ({ messages }));
  return shared;
};

const begin = (): void => {
  void shared?.stop();
  if (!shared) return;
  shared.messages = [];
  shared.clearError();
};

// Removing the token also clears everything that was read with it.
token.subscribe((value) => {
  if (value === '') begin();
});

/** Published calls that have already invalidated the list of agents. */
const heard = new Set<string>();

const hearOf = (messages: readonly UIMessage[]): void => {
  for (const part of messages.flatMap(callsIn)) {
    if (heard.has(part.toolCallId) || actionOf(part)?.kind !== 'published') continue;
    heard.add(part.toolCallId);
    changed('agents');
  }
};

export const useAssistant = (): Talk & { begin(): void } => {
  const talk = useRunChat(conversation());
  const { messages } = talk;
  useEffect(() => hearOf(messages), [messages]);
  return { ...talk, begin };
};
