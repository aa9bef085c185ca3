import { type DynamicToolUIPart, getToolName, isToolUIPart, type ToolUIPart, type UIMessage } from 'ai';
import { type FormEvent, useState } from 'react';
import type { TroupeChat } from '../../../src/react/index.ts';

/** The parts of a message: text, reasoning, files, and tool calls with the decisions of the user. */

type Answers = Pick<TroupeChat, 'approve' | 'deny' | 'answer'>;

export const Parts = (on: { parts: UIMessage['parts']; chat: Answers; isLast: boolean }) =>
  on.parts.map((part, index) => {
    // Parts are only appended. The id of a call may repeat.
    const key = `${part.type} ${index}`;
    if (part.type === 'text') return <p key={key}>{part.text}</p>;
    if (part.type === 'reasoning') return <Reasoning key={key} text={part.text} />;
    if (part.type === 'file') return <File key={key} {...part} />;
    if (isToolUIPart(part)) return <ToolCall key={key} part={part} chat={on.chat} isOpen={on.isLast} />;
    return null;
  });

const Reasoning = ({ text }: { text: string }) => (
  <details>
    <summary>Reasoning</summary>
    <div>{text}</div>
  </details>
);

const File = ({ url, mediaType, filename }: { url: string; mediaType: string; filename?: string }) =>
  mediaType.startsWith('image/') ? (
    <img src={url} alt={filename ?? 'image'} />
  ) : (
    <a href={url} download={filename}>
      {filename ?? mediaType}
    </a>
  );

const STATES: Record<ToolUIPart['state'], string> = {
  'input-streaming': 'is called',
  'input-available': 'runs',
  'approval-requested': 'waits for approval',
  'approval-responded': 'answered',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
};

/** `isOpen`: its run still accepts decisions. */
type Call = { part: ToolUIPart | DynamicToolUIPart; chat: Answers; isOpen: boolean };

const ToolCall = ({ part, chat, isOpen }: Call) => {
  const name = getToolName(part);
  const isAsking = isOpen && part.state === 'input-available' && name === 'askUserQuestion';
  return (
    <div className="tool">
      <div>
        <strong>{name}</strong>
        <span className="note">{isAsking ? 'waits for your answer' : STATES[part.state]}</span>
      </div>
      {part.input !== undefined && <pre>{JSON.stringify(part.input)}</pre>}
      {part.state === 'output-available' && <pre>{JSON.stringify(part.output, null, 2)}</pre>}
      {part.state === 'output-error' && <pre>{part.errorText}</pre>}
      {isOpen && part.state === 'approval-requested' && <Approval id={part.approval.id} chat={chat} />}
      {isAsking && <Question toolCallId={part.toolCallId} chat={chat} />}
    </div>
  );
};

const Approval = ({ id, chat }: { id: string; chat: Answers }) => (
  <div className="row">
    <button type="button" className="main" onClick={() => chat.approve({ id })}>
      Approve
    </button>
    <button type="button" onClick={() => chat.deny({ id })}>
      Deny
    </button>
  </div>
);

/** The tool `askUserQuestion` is executed by the page: the answer of the user is its output. */
const Question = ({ toolCallId, chat }: { toolCallId: string; chat: Answers }) => {
  const [answer, setAnswer] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    chat.answer({ tool: 'askUserQuestion', toolCallId, output: { answer } });
  };
  return (
    <form onSubmit={submit}>
      <input aria-label="Answer" value={answer} onChange={(event) => setAnswer(event.target.value)} />
      <button type="submit" className="main">
        Answer
      </button>
    </form>
  );
};
