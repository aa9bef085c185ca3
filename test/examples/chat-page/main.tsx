import type { UIMessage } from 'ai';
import { type FormEvent, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useTroupeChat } from '../../../src/react/index.ts';
import '../page.css';
import { address } from './address.ts';
import { Parts } from './parts.tsx';

/** A chat with an agent. All its content is stored by the service, so the page can be reloaded at any time. */

const Page = () => {
  const chat = useTroupeChat(address);
  const { messages, status, isBusy, isUnanswered, error, retry } = chat;
  const said = error?.message ?? (isUnanswered && 'There is no answer.');
  return (
    <main>
      <header>
        <h1>{address.agentId}</h1>
        <small>{isBusy ? 'answers…' : status}</small>
      </header>
      <section className="messages">
        {messages.map((message) => (
          <article key={message.id} className={message.role}>
            <Parts parts={message.parts} chat={chat} isLast={message === messages.at(-1)} />
            {!isBusy && message.role === 'user' && (
              <Edit text={textOf(message)} onEdit={(text) => chat.edit(message.id, text)} />
            )}
            {!isBusy && message.role === 'assistant' && message === messages.at(-1) && (
              <button type="button" className="quiet" onClick={() => chat.regenerate()}>
                Another answer
              </button>
            )}
          </article>
        ))}
      </section>
      {said && (
        <div className="problem" role="alert">
          <span>{said}</span>
          <button type="button" onClick={retry}>
            Try again
          </button>
        </div>
      )}
      <Composer busy={isBusy} onStop={chat.stop} onSend={chat.sendMessage} />
    </main>
  );
};

const textOf = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

const Edit = ({ text, onEdit }: { text: string; onEdit(text: string): void }) => {
  const [draft, setDraft] = useState<string>();
  if (draft === undefined) {
    return (
      <button type="button" className="quiet" onClick={() => setDraft(text)}>
        Edit
      </button>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setDraft(undefined);
    onEdit(draft);
  };
  return (
    <form onSubmit={submit}>
      <input aria-label="Edited message" value={draft} onChange={(event) => setDraft(event.target.value)} />
      <button type="submit" className="main">
        Ask this
      </button>
    </form>
  );
};

type Said = { text: string; files?: FileList };

const Composer = (on: { busy: boolean; onStop(): void; onSend(said: Said): void }) => {
  const [text, setText] = useState('');
  const [files, setFiles] = useState<FileList | null>(null);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '' || on.busy) return;
    on.onSend({ text, ...(files && { files }) });
    setText('');
    setFiles(null);
  };

  return (
    <form className="send" onSubmit={submit}>
      <label className="file">
        {files?.[0]?.name ?? 'File'}
        <input type="file" onChange={(event) => setFiles(event.target.files)} />
      </label>
      <input
        aria-label="Message"
        placeholder="Say something"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {on.busy ? (
        <button type="button" onClick={on.onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="main">
          Send
        </button>
      )}
    </form>
  );
};

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
