import { describe, expect, it } from 'vitest';
import { edgesOf, lanesOf, readSet } from '../src/model/schedules';

const SET = `schedules 1
program 41
prefix yes
marker @work 14 "queue.c" 30 3
input order 8 "order" 0 1
epoch entry
init (bvult order #x10)
if (not (= order #x00))
  take s1
else
  if (= order #x01)
    take s2
  else
    none
schedule s1 epoch again
  0:1 begin
  0:2 create 0.1 at @main 7 "a;b \\"c.c" 12 3
  0.1:1 begin after 0:2
  0.1:2 lock @m+0 at @add 1
  0:3 lock @m+0 at @main 9 "queue.c" 14 3 after 0.1:2
  next 0.1 0
schedule s2 exited
  0:1 begin
  0:2 exit
epoch again
stands 0 lock at @work 15 "queue.c" 30 3
unknown n 32 @n+0
input y 8 "y" 1 1
object heap:#1 24
local 1/0%i "i" "queue.c" 28
; a comment
later lines are kept out
take s1
schedule s1 epoch again
  1:1 signal @c+0 wakes 0 at @work 3 "queue.c" 9 1
`;

describe('readSet', () => {
  const set = readSet(SET);
  const [entry, again] = set.epochs;

  it('reads epochs, with their selectors', () => {
    expect(set.inputs).toEqual(['input order 8 "order" 0 1']);
    expect(set.markers).toEqual(['@work 14 "queue.c" 30 3']);
    expect(set.epochs.map(({ name }) => name)).toEqual(['entry', 'again']);
    expect(entry?.facts).toEqual(['init (bvult order #x10)']);
    expect(entry?.choice).toEqual({
      term: '(not (= order #x00))',
      yes: { take: 's1' },
      no: { term: '(= order #x01)', yes: { take: 's2' }, no: { take: null } },
    });
    expect(again?.facts).toHaveLength(5);
    expect(again?.choice).toEqual({ take: 's1' });
  });

  it('reads schedules, with places, edges and the next epoch', () => {
    const schedule = entry?.schedules[0];
    expect(schedule).toMatchObject({
      name: 's1',
      end: 'epoch',
      next: 'again',
      binds: ['0.1', '0'],
    });
    expect(schedule?.nodes[1]).toEqual({
      name: '0:2',
      thread: '0',
      text: 'create 0.1',
      place: 'a;b \\"c.c:12',
      after: [],
    });
    expect(schedule?.nodes[3]?.place).toBe('@add 1');
    expect(schedule && lanesOf(schedule)).toEqual(['0', '0.1']);
    expect(schedule && edgesOf(schedule)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(again?.schedules[0]?.nodes[0]?.text).toBe('signal @c+0 wakes 0');
  });

  it('takes texts that are no sets', () => {
    expect(readSet('').epochs).toEqual([]);
    expect(readSet('epoch a\nif x\n').epochs[0]?.choice).toBeNull();
  });
});
