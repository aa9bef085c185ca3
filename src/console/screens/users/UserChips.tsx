import { Chip } from '../../design/Chip.tsx';
import { useTexts } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };
import { USER_KINDS, type User } from './user.ts';

export const KindChip = ({ kind }: Pick<User, 'kind'>) => {
  const t = useTexts(texts);
  const known = USER_KINDS.find((each) => each === kind);
  return <Chip tone={kind === 'service' ? 'agent' : 'info'}>{known ? t(`field.kind.${known}`) : kind}</Chip>;
};

export const StateChip = ({ disabled }: Pick<User, 'disabled'>) => {
  const t = useTexts(texts);
  return (
    <Chip tone={disabled ? 'error' : 'success'}>{t(disabled ? 'state.disabled' : 'state.enabled')}</Chip>
  );
};
