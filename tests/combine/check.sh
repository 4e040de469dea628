#!/bin/bash
# SPDX-License-Identifier: MIT
# REL-10: a fixed set of seeds, about 40 seconds of one core; some in which rare pairs meet; and those in which random
# runs have found something. An argument names the program to run: combine or combine-image.
cd "$(dirname "$0")/../.." || exit 2
also=(30543                       # splits a CTA
      20225 21032 21405 27941 418269 # faults and throttle tasks beside what is rare
      76829 71589 35423 71151 32490  # a second fault beside what is rare
      13455 202945 1027202406     # very long visits
      401368 800479               # the worst visits that runs of fresh seeds have found
      518554 570981 571340        # the same as in check_waits.sh, among all features
      8488 12755 13298 200800     # a task starves, or seems to
      521488 530671               # the same: throttle mode, a task whose SMs are off
      300822                      # visits without end while tasks wait for a shape
      801876 805273 808187 810379 # scores that were forgotten before all of them were worked out, on large cards
      302062 306857               # a long visit when SMs are held for CGAs
      983463 984778 974886        # visits without end, or SMs that are never left, when searches are dear
      1027332                     # a task of a failed packet that is evicted before its failure is reported
      1020288                     # a request to suspend that is answered after the next one was made
      1014306                     # a quota while domains are held for a CGA
      1020538 980199 960230 960727 # CTAs that are not split: some must not be, the turn of others is yet to come
      3113851                     # the same, behind an older task of the queue that waits for its own CTAs
      1021849 1017260 1116613     # tasks that wait for CTAs that do not end: their own, or because those of CGAs end first
      995257 1106103 974866 986079 # packets that wait for children, while one task is evicted again and again
      1130626                     # a large card whose GPCs have fewer ids than SMs
      1005830 1036895 1111376 1132489 1141225 # visits that fill a large card in round-robin order
      1064305                     # quotas, when the task whose turn it is does not fit
      1063905                     # more children wait for a shape than a visit can look at
      11408                       # a queue task that has worked off its items does not end
      6164861 6111214             # a child whose parent is killed, a turn that ends while descriptors are fetched
      5002696 6701167             # long visits: multicast CGAs, 31 kernels with CGAs in a packet
      7100082 7302677             # CGAs with a mask: on an SM that a search overlooks, behind stale failures
      7204080 7207423 7206757 7208153 7209957 7201634 7206214 # faults, resets and throttle tasks beside what is rare
      9015402                     # a reference that is stored again before the engines have read it
      8211337                     # a CGA on one SM, where a rotated split has no room for it
      7200687 7203864             # throttle tasks with CGAs that never fit on so few SMs
      20006616                    # a task behind one of its own queue that visits have no time for
      21000902                    # a request to suspend when four wait for their answers
      22004517 22006228 22006579 22006783 22011461 22022169 # throttle tasks of rare kinds, beside large CTAs and CGAs
      22031087 22007281 22050287  # second faults in stopped queues, beside large CTAs and CGAs
      24003363                    # the same, of a throttle task with a mask
      27217332 27201182 27206014 27203313 27204239 # CTAs that need a whole SM, second faults: beside what is rare
      27300772 27309230 27307891 27310269 # the same, and CGAs that need a whole domain
      28056062 477207433          # SMs are held for a CGA, or a CTA, that looks as if it might have been evicted
      29017983                    # condensed packets of low priority keep the room that others need
      27205444                    # two clients wait for the engines to read references that they store again
      22010297                    # small CTAs on the SM that is held for a large one
      23000450                    # a task in throttle mode while the card is suspended
      40007348 40112858 41309428 43312335 52001796 # queues that get no entry of the table of shapes
      42004608 43003525 47003117  # long visits: many CTAs fit the shared memory of throttle mode
      44203635                    # SMs of a throttle task are switched on while a request waits
      42216756 44100191 40109628  # a large CTA waits for SMs of a kernel with many CTAs
      45013953 41320590           # no record for a split, SMs held for a CTA that does not fit
      53148076 55000928           # waves of CTAs that are split do not count towards a quota
      60033088                    # SMs are held for an equal while a quota is used up
      60028301                    # a CGA needs the SMs of CTAs that wait for their children
      60126179                    # the first in line for a shape is destroyed
      60256901                    # room for the first task in the visit in which the last has its chance
      62190505                    # an independent kernel of a condensed packet waits for a slot
      84011018                    # SMs are held twice in vain for a CGA that needs a whole domain, as CTAs end one at a time
      76008635                    # no record was left for an independent kernel when it was launched
      85112452 687000197          # a condensed packet with metadata or CGAs, whose client has most task slots
      135002617 125003101 537002094 # long visits: thousands of CTAs beside those of other shapes
      537002425 537001632         # long visits: CGAs beside other shapes, on SMs that are scattered over GPCs
      63022945                    # SMs that are disabled twice, when the first request is answered after the second was made
      56006229                    # queues take descriptors and buffers from each other
      1100000717                  # occupancy is asked for in throttle mode
      1300000469 1400000280 1400000465 # queues that share references wait for shapes
      1100043318 1100062326 1100000323 # children, their times, and parents that wait for them
      1567004580                  # references of another queue, whose priorities may be higher
      1567010161                  # a child waits for SMs that are held for a CGA, which waits for its parent
      1567000702                  # a table is read while a packet that will store a reference waits
      1100000016 1100000041 1100000063) # questions, packet numbers that wrap
exec "${TUTTI_OUT:-build}/tests/combine/${1:-combine}" --seed 22000001 --count "${COMBINE_COUNT:-4000}" "${also[@]/#/--also=}" \
	--known tests/combine/known
