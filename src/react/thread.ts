import type { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import type { Connection } from '../client/connection.ts';

/**
 * One thread of the service as a chat of the AI SDK, by its stock transport: what is stored comes from the history, and
 * a run that is under way from its stream, which begins at the beginning of the answer. Leaving cancels nothing.
 *
 * Guarantees: while an answer comes, its stream alone writes messages; what is stored is shown in between. Whoever asks
 * for it meanwhile gets the same look, so nothing is fetched, shown or executed twice.
 */

/** What it gives, or what it throws as the error, is the result of the call, and its run goes on. */
export type PageTool = (input: unknown, call: { toolCallId: string }) => unknown;

export type PageTools = Readonly<Record<string, PageTool>>;

export type ThreadChatOptions = {
  /** Address of the service, such as `http://127.0.0.1:38080`; left out, that of the page. */
  url?: string;
  threadId: string;
  /** Who answers; left out, the agent of the thread, or `default`. */
  agentId?: string;
  /** Of each request, such as the authorization; a function is asked anew each time. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** Default: that of the platform. */
  fetch?: typeof fetch;
  /** What the page executes itself, by the name of the tool. */
  tools?: PageTools;
};

/** Does something unless another tab is doing it, by its name. */
export type Alone = (name: string, act: () => Promise<void>) => void;

/** Functions among them may be new ones at any time. */
export type ThreadChatInput = Omit<ThreadChatOptions, 'headers' | 'fetch' | 'tools'> & {
  headers: () => Record<string, string>;
  fetch: typeof fetch;
  tools: () => PageTools;
  alone: Alone;
};

/** The stream of a run, as the service has begun to answer it. */
export type Live = { response: Response; letGo(): void };

export type ThreadChat = {
  readonly chat: Chat<UIMessage>;
  readonly connection: Connection;
  readonly tools: () => PageTools;
  readonly alone: Alone;
  /** How many pages show it. */
  shown: number;
  /** A question that is on its way: nobody knows of its run before it is answered. */
  asking: Promise<unknown> | undefined;
  /** What the user has said and the service has not got, by ids of messages. */
  readonly unsent: Set<string>;
  /** The first of these stands in the place of a message that the service has. */
  isEdited: boolean;
  /** Streams that were left: until then no other is begun. */
  leaving: Promise<void> | undefined;
  catching: Promise<void> | undefined;
  /** What the chat is to follow as it resumes. */
  live: Live | undefined;
  /** What is shown may not be all: it was never read, or a stream has ended since. */
  isStale: boolean;
  /** The run waits for its client. */
  isWaiting: boolean;
  /** This page has answered what is open as far as the service knows. */
  hasGiven: boolean;
  /** Answers in it came too late: nobody waits for them any more, and they are not to be sent again and again. */
  unheard: UIMessage | undefined;
  /** The thread as the service had it before what is shown was read; undefined: it was never read. */
  seen: string | undefined;
  /** Calls that the page has begun to execute. */
  readonly begun: Set<string>;
  /** Of those, the ones whose answers the service has not got yet, and how to let go of them. */
  readonly held: Map<string, () => void>;
};
