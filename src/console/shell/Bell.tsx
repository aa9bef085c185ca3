import { Popover } from '@mantine/core';
import { useState } from 'react';
import { useAtom } from '../data/use-atom.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { DialogActions } from '../design/Dialog.tsx';
import { Ago } from '../design/Time.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import {
  clearNotifications,
  markRead,
  mute,
  muted,
  type Notification,
  notifications,
} from './notifications.ts';
import css from './Topbar.module.css';
import shellTexts from './texts.json' with { type: 'json' };

const Event = ({ event }: { event: Notification }) => {
  const t = useTexts(shellTexts);
  const isMuted = useAtom(muted).includes(event.kind);
  const kind = t(`bell.kind.${event.kind}`);
  const text = t(event.text, event.values);
  return (
    <li className="row spread">
      <div>
        {event.href ? <ScreenLink to={event.href}>{text}</ScreenLink> : text}
        <div className="quiet">
          <Ago at={event.at} />
        </div>
      </div>
      <IconButton
        small
        icon={isMuted ? 'bell' : 'close'}
        label={t(isMuted ? 'bell.unmute' : 'bell.mute', { kind })}
        onClick={() => mute(event.kind, !isMuted)}
      />
    </li>
  );
};

export const Bell = () => {
  const t = useTexts(shellTexts);
  const [isOpen, open] = useState(false);
  const all = useAtom(notifications);
  const unread = all.filter(({ isRead }) => !isRead).length;
  const turn = (): void => {
    if (!isOpen) markRead();
    open(!isOpen);
  };
  return (
    <Popover opened={isOpen} onChange={open} position="bottom-end" trapFocus>
      <span className="sheet">
        <Popover.Target>
          <IconButton
            icon="bell"
            label={unread > 0 ? t('bell.count', { count: unread }) : t('bell.title')}
            onClick={turn}
          />
        </Popover.Target>
        {unread > 0 && <span className={css.unread} aria-hidden="true" />}
      </span>
      <Popover.Dropdown>
        {all.length === 0 ? (
          <p>{t('bell.empty')}</p>
        ) : (
          <>
            <ul className={`divided ${css.news}`}>
              {all.map((event) => (
                <Event key={event.id} event={event} />
              ))}
            </ul>
            <DialogActions>
              <Button small tone="quiet" onClick={clearNotifications}>
                {t('common.clearAll')}
              </Button>
            </DialogActions>
          </>
        )}
      </Popover.Dropdown>
    </Popover>
  );
};
