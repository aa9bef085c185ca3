import { useState } from 'react';
import { visibleText } from '../../data/visible-text.ts';
import { Button } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { TicketContent } from '../../run-records/TicketContent.tsx';
import texts from './texts.json' with { type: 'json' };
import type { Open, Wish } from './tickets.ts';

/** Decides on all requests of a group. The dialog shows every call; approval requires that its end has been visible. */
export const DecideAll = (props: { tickets: readonly Open[]; onDecide: (wish: Wish) => void }) => {
  const t = useTexts(texts);
  const { tickets, onDecide } = props;
  const [wish, ask] = useState<Wish>();
  const [isSeen, setSeen] = useState(false);
  const [first] = tickets;
  const values = { count: tickets.length, tool: visibleText(first?.ticket.tool_name ?? '') };
  const close = (): void => {
    ask(undefined);
    setSeen(false);
  };
  const approves = wish?.do === 'approve';
  return (
    <span className="row">
      <Button small tone="quiet" onClick={() => ask({ do: 'approve' })}>
        {t('all', values)}
      </Button>
      <Button small tone="quiet" onClick={() => ask({ do: 'deny', reason: '' })}>
        {t('all.deny', values)}
      </Button>
      {wish && (
        <ConfirmDialog
          title={t('all.title', values)}
          confirm={t(approves ? 'all.approve' : 'all.refuse')}
          tone={approves ? 'primary' : 'danger'}
          unready={approves && !isSeen ? t('unseen') : undefined}
          size={640}
          onConfirm={() => {
            onDecide(wish);
            close();
          }}
          onClose={close}
        >
          <p>{t('all.text')}</p>
          <ol className="stack" style={{ paddingLeft: 20 }}>
            {tickets.map(({ key, ticket, user }, at) => (
              <li key={key}>
                {user !== undefined && <p className="small">{t('for.user', { user })}</p>}
                <TicketContent
                  ticket={ticket}
                  onSeen={at === tickets.length - 1 ? () => setSeen(true) : undefined}
                />
              </li>
            ))}
          </ol>
        </ConfirmDialog>
      )}
    </span>
  );
};
