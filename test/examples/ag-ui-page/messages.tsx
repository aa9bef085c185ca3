import type { Interrupt, Message, ToolCall } from '@ag-ui/client';
import { type FormEvent, useState } from 'react';
import { askUserQuestion } from './thread.ts';

/** The messages of a conversation; tool results are shown with their calls. */

type Answers = {
  interrupts: Interrupt[];
  onDecide(interruptId: string, approved: boolean): void;
  onAnswer(toolCallId: string, content: string): void;
};

export const Messages = ({ messages, ...answers }: Answers & { messages: Message[] }) => (
  <section className="messages">
    {messages.map((message) => {
      if (message.role === 'tool' || message.role === 'activity') return null;
      if (message.role === 'reasoning') return <Reasoning key={message.id} text={message.content} />;
      const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
      return (
        <article key={message.id} className={message.role}>
          {message.content && <p>{textOf(message.content)}</p>}
          {calls.map((call) => (
            <Call key={call.id} call={call} messages={messages} {...answers} />
          ))}
        </article>
      );
    })}
  </section>
);

const textOf = (content: Message['content']): string =>
  Array.isArray(content)
    ? content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('')
    : String(content ?? '');

const Reasoning = ({ text }: { text: string }) => (
  <details>
    <summary>Reasoning</summary>
    <div>{text}</div>
  </details>
);

const Call = ({
  call,
  messages,
  interrupts,
  onDecide,
  onAnswer,
}: Answers & { call: ToolCall; messages: Message[] }) => {
  const result = messages.find((message) => message.role === 'tool' && message.toolCallId === call.id);
  const interrupt = interrupts.find(({ toolCallId }) => toolCallId === call.id);
  const isQuestion = !result && call.function.name === askUserQuestion.name;
  const waits = interrupt ? 'waits for approval' : isQuestion ? 'waits for your answer' : 'runs';
  return (
    <div className="tool">
      <div>
        <strong>{call.function.name}</strong>
        <span className="note">{result ? 'done' : waits}</span>
      </div>
      <pre>{call.function.arguments}</pre>
      {result && <pre>{textOf(result.content)}</pre>}
      {interrupt && <Approval onDecide={(approved) => onDecide(interrupt.id, approved)} />}
      {isQuestion && <Question onAnswer={(text) => onAnswer(call.id, text)} />}
    </div>
  );
};

const Approval = ({ onDecide }: { onDecide(approved: boolean): void }) => (
  <div className="row">
    <button type="button" className="main" onClick={() => onDecide(true)}>
      Approve
    </button>
    <button type="button" onClick={() => onDecide(false)}>
      Deny
    </button>
  </div>
);

const Question = ({ onAnswer }: { onAnswer(text: string): void }) => {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAnswer(text);
  };
  return (
    <form onSubmit={submit}>
      <input aria-label="Answer" value={text} onChange={(event) => setText(event.target.value)} />
      <button type="submit" className="main">
        Answer
      </button>
    </form>
  );
};
