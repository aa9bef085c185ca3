import { useEffect, useRef } from 'react';
import { IconButton } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import css from './AssistantChat.module.css';
import { AssistantTalk } from './AssistantTalk.tsx';
import { ConversationTools } from './ConversationTools.tsx';
import { useAssistant } from './chat.ts';
import { setPanelOpen } from './state.ts';
import texts from './texts.json' with { type: 'json' };

/** Shown next to every screen except the assistant's. On wide windows it does not cover the screen. */
export default function Panel() {
  const t = useTexts(texts);
  const go = useGo();
  const talk = useAssistant();
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = panel.current;
    if (!element) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented) setPanelOpen(false);
    };
    element.addEventListener('keydown', onKey);
    return () => element.removeEventListener('keydown', onKey);
  }, []);
  return (
    <div className={`column ${css.panel}`} role="dialog" aria-label={t('title')} ref={panel}>
      <header className="row bar" style={{ minHeight: 'var(--bar)' }}>
        <h2 className="grow" style={{ fontSize: 13 }}>
          {t('title')}
        </h2>
        <ConversationTools talk={talk} />
        <IconButton small icon="external" label={t('page')} onClick={() => go('/assistant')} />
        <IconButton small icon="close" label={t('close')} onClick={() => setPanelOpen(false)} />
      </header>
      <AssistantTalk talk={talk} />
    </div>
  );
}
