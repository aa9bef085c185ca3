import { useEffect, useRef } from 'react';
import { Conversation } from '../chat/Conversation.tsx';
import type { ClientTool } from '../chat/client-tools.ts';
import type { Talk } from '../chat/talk.ts';
import { useThread } from '../chat/use-thread.ts';
import { invalidate } from '../data/queries.ts';

const NO_TOOLS: readonly ClientTool[] = [];
const nothing = (): void => {};

export type TalkState = Pick<Talk, 'isBusy' | 'stop'>;

/** A thread, to which the messages in `sent` are sent one after the other. */
export default function HelloTalk(props: {
  agentId: string;
  threadId: string;
  sent: readonly string[];
  onState: (state: TalkState) => void;
}) {
  const { agentId, threadId, sent, onState } = props;
  const talk = useThread({ agentId, threadId, tools: NO_TOOLS, onSend: nothing });
  const latest = useRef(talk);
  latest.current = talk;
  const count = useRef(0);
  useEffect(() => {
    const next = sent[count.current];
    if (next === undefined || !talk.isLoaded || talk.isBusy) return;
    count.current += 1;
    talk.send(next, []);
  });
  const isPending = talk.isBusy || count.current < sent.length;
  useEffect(() => {
    onState({ isBusy: isPending, stop: () => latest.current.stop() });
    // The response is in a run of the service, which other parts of the screen read.
    if (!isPending) invalidate('/v1/runs', '/v1/agents');
  }, [isPending, onState]);
  return <Conversation talk={talk} editable={false} empty={null} />;
}
