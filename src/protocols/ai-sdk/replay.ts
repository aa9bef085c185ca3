import type { ReplayProtocol } from '../replay-log.ts';
import { createChatEncoder } from './encoder.ts';

/** The durable replay of a thread in the chat protocol; `replayPage` creates its frames. */
export const chatReplay: ReplayProtocol = { code: 'v6', createEncoder: () => createChatEncoder() };
