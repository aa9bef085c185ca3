import { useEffect, useState } from 'react';
import { useAtom } from '../data/use-atom.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { Icon } from '../design/Icon.tsx';
import designTexts from '../design/texts.json' with { type: 'json' };
import { dismissToast, LIFETIME, type Toast, toasts } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import css from './Toasts.module.css';
import shellTexts from './texts.json' with { type: 'json' };

const ICONS = { success: 'check', info: 'info', error: 'error' } as const;
const TONES = { success: 'tone.success', info: 'tone.info', error: 'tone.error' } as const;

const MOST_SHOWN = 5;

const OneToast = ({ toast, paused }: { toast: Toast; paused: boolean }) => {
  const t = useTexts(shellTexts);
  const own = useTexts(designTexts);
  const [isOpen, open] = useState(false);
  const { id, kind, text, times, details, action } = toast;
  useEffect(() => {
    const life = LIFETIME[kind];
    if (life === undefined || paused) return undefined;
    const timer = setTimeout(() => dismissToast(id), life);
    return () => clearTimeout(timer);
  }, [id, kind, paused]);
  const act = (): void => {
    action?.run();
    dismissToast(id);
  };
  return (
    <div role="alert" className={`${css.toast} tone`} data-tone={kind} data-testid={`toast-${kind}`}>
      <Icon name={ICONS[kind]} />
      <div className={css.text}>
        <span className="visually-hidden">{own(TONES[kind])}: </span>
        <span>{text}</span>
        {times > 1 && <span className="quiet"> ×{times}</span>}
        {isOpen && <pre className={css.details}>{details}</pre>}
      </div>
      {details !== undefined && (
        <Button small tone="quiet" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
          {t('toast.details')}
        </Button>
      )}
      {action && (
        <Button small tone="quiet" onClick={act}>
          {action.label}
        </Button>
      )}
      <IconButton small icon="close" label={t('common.dismiss')} onClick={() => dismissToast(id)} />
    </div>
  );
};

export const Toasts = () => {
  const t = useTexts(shellTexts);
  const all = useAtom(toasts);
  const [paused, pause] = useState(false);
  const shown = all.slice(-MOST_SHOWN);
  const earlier = all.length - shown.length;
  return (
    <div
      role="status"
      className={`stack ${css.viewport}`}
      onPointerEnter={() => pause(true)}
      onPointerLeave={() => pause(false)}
      onFocus={() => pause(true)}
      onBlur={() => pause(false)}
    >
      {earlier > 0 && <div className="quiet">{t('toast.earlier', { count: earlier })}</div>}
      {shown.map((toast) => (
        <OneToast key={toast.id} toast={toast} paused={paused} />
      ))}
    </div>
  );
};
