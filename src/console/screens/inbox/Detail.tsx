import type { ComponentProps } from 'react';
import { type Resource, useResource } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';
import { visibleText } from '../../data/visible-text.ts';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { RunLink, shortId } from '../../run-records/RunChip.tsx';
import { threadHref } from '../../run-records/run.ts';
import { type Message, MessagePage, textIn } from '../../thread-messages/messages.ts';
import { Transcript } from '../../thread-messages/Transcript.tsx';
import { UserLink } from '../users/UserLink.tsx';
import { Decision, useTool } from './Decision.tsx';
import css from './Inbox.module.css';
import texts from './texts.json' with { type: 'json' };
import { asksFor, type Open } from './tickets.ts';

/** The details of a ticket that a person decides on: the conversation, the tool, its arguments, the consequences. */

/** Number of messages that are read, and of those that are shown: the call itself is one or two of them. */
const READ = 6;
const SHOWN = 3;

const lastMessages = (threadId: string): Resource<ReturnType<typeof MessagePage>> => ({
  path: pathOf`/v1/threads/${threadId}/messages`,
  query: { order: 'desc', limit: READ, visibility: 'all' },
  guard: MessagePage,
});

/** The messages before the call, which is shown below them. */
const before = (messages: readonly Message[], callId: string): Message[] =>
  messages
    .filter(({ tool_call_id }) => tool_call_id !== callId)
    .map((message) => ({ ...message, tool_calls: message.tool_calls.filter(({ id }) => id !== callId) }))
    .filter((message) => message.tool_calls.length > 0 || textIn(message) !== '')
    .slice(0, SHOWN)
    .reverse();

const Conversation = ({ open }: { open: Open }) => {
  const t = useTexts(texts);
  const messages = before(
    useResource(lastMessages(open.threadId)).data?.messages ?? [],
    open.ticket.tool_call_id,
  );
  if (messages.length === 0) return null;
  return (
    <section className="ruled section" aria-label={t('conversation')}>
      <h3>{t('conversation')}</h3>
      <Transcript messages={messages} place="open" />
    </section>
  );
};

const Head = ({ open, description }: { open: Open; description: string }) => {
  const t = useTexts(texts);
  const { ticket, agentId, runId, threadId } = open;
  return (
    <header>
      <h2 className="mono" style={{ fontSize: 15 }}>
        {visibleText(ticket.tool_name)}
      </h2>
      {description !== '' && <p className="small">{description}</p>}
      <p className={`row small ${css.facts}`}>
        <span>
          {t('for')} {open.user === undefined ? t('common.noUser') : <UserLink id={open.user} />}
        </span>
        <span>
          {t('agent')} <ScreenLink to={`/agents/${encodeURIComponent(agentId)}`}>{agentId}</ScreenLink>
        </span>
        <span>
          {t('run')} <RunLink id={runId} />
        </span>
        <span>
          {t('common.thread')}{' '}
          <ScreenLink to={threadHref(threadId)} title={threadId} className="mono">
            {shortId(threadId)}
          </ScreenLink>
        </span>
      </p>
    </header>
  );
};

export const Detail = (props: ComponentProps<typeof Decision>) => {
  const t = useTexts(texts);
  const { open } = props;
  const { description } = useTool(open.ticket.tool_name);
  return (
    <section className={`card column ${css.detail}`} aria-label={t('decision')}>
      <Head open={open} description={description} />
      <Conversation open={open} />
      <Decision {...props} heading={<h3>{t(`asks.${asksFor(open.ticket)}`)}</h3>} />
    </section>
  );
};
