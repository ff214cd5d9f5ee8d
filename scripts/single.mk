# SPDX-License-Identifier: MIT
#
# single.mk - the tests of libfiber, linked with libfiber-test in its place: one schedule each
#
# make single    build and run them
#
# The objects are those of the tests of libfiber. tests/harness/single takes the place of cmocka's function that runs a group. The
# lists below name what is left out, and why. `make check` runs the programs too.

# -- programs --
# They define the functions of the C library that libfiber-test defines.
SINGLE_NOT_LIBC := unit/io/test_empty unit/io/test_registration unit/sync/test_timer unit/io/test_faults unit/io/test_generation unit/io/test_name unit/io/test_race_pipe unit/io/test_shortage
# They look at carriers, run queues, idling, long runs or the service thread, which libfiber-test replaces or leaves out.
SINGLE_NOT_CARRIERS := system/test_bind system/test_crowd system/test_idle_hook system/test_observer system/test_quiet system/test_signals system/test_stealing system/test_thread_waits system/test_waiting_threads system/test_watchdog \
	unit/poll/test_choose unit/sched/test_carrier unit/sched/test_counters unit/sched/test_running unit/sched/test_fair \
	unit/sched/test_idle unit/sched/test_late unit/sched/test_ready unit/sched/test_recorder unit/sched/test_switch unit/sched/test_turn \
	unit/watch/test_crowd unit/watch/test_longrun unit/watch/test_longrun_sample unit/watch/test_profile unit/watch/test_stats unit/watch/test_tick
SINGLE_NOT_CARRIERS += system/test_gc_stop system/test_gc_boehm unit/core/test_hooks unit/runtime/test_gc unit/runtime/test_gc_roots unit/watch/test_halt system/test_guards unit/sched/test_trim $(filter-out unit/service/test_objects,$(patsubst tests/%.c,%,$(wildcard tests/unit/service/test_*.c)))
# They measure how long a poller waits, which is real time.
SINGLE_NOT_CLOCK := unit/poll/test_epoll unit/poll/test_poll unit/poll/test_uring unit/poll/test_kqueue unit/poll/test_kqueue_queue
# They fork, or end processes.
SINGLE_NOT_PROCESSES := system/test_await_ends system/test_fork system/test_misuse system/test_race_fork system/test_race_join system/test_tls_peers unit/io/test_child unit/io/test_shared \
	unit/core/test_sole unit/life/test_held unit/runtime/test_fault unit/runtime/test_fork unit/stack/test_overflow
# They take io_uring away from the process.
SINGLE_NOT_KERNEL := unit/io/test_op
# In libfiber-test fibers have no thread-locals of their own.
SINGLE_NOT_TLS := system/test_own_tls system/test_own_tls_by_call unit/sched/test_own_tls unit/life/test_own_thread
# Models call nothing of the library, so a schedule would have no choice in it.
SINGLE_NOT_MODELS := %_model
# Programs of which the lists below leave nothing.
SINGLE_NOT_EMPTY := system/test_block system/test_cancel_kinds system/test_cancel_mask_kinds system/test_introspect system/test_mutex_order \
	system/test_name_server system/test_race_start system/test_spawn_failure unit/base/test_check unit/core/test_record \
	unit/io/test_elsewhere unit/io/test_race_reuse unit/io/test_sigpipe unit/io/test_thread unit/life/test_early \
	unit/sync/test_select_at_once unit/wait/test_wake

# -- tests of other programs --
# Real threads wait for fibers, or for each other; there are no other carriers that would run fibers meanwhile.
SINGLE_NOT_THREADS := test_aside_ends_the_call_with_the_wait test_aside_parks_the_fiber_until_the_call_returns test_aside_without_time_makes_no_call \
	test_await_race_of_edges_elements_and_deadlines_loses_nothing test_await_tells_who_blocks_of_a_descriptor_that_is_closed \
	test_barrier_tells_the_last_from_the_others_round_after_round test_barrier_waiter_that_gave_up_does_not_count \
	test_block_is_called_once_for_each_of_many_fibers_and_threads test_blocking_thread_wakes_up_when_it_is_ready \
	test_chan_close_wakes_all_who_wait test_chan_closed_in_the_middle_keeps_what_was_sent \
	test_chan_deadline_against_partner_loses_and_doubles_nothing test_chan_deadlines_that_race_lose_and_double_nothing \
	test_chan_every_element_sent_is_received_once test_lot_wakes_threads_too test_lot_hands_to_threads_too \
	test_interrupt_ends_only_a_wait_with_the_flag_set test_chan_select_merges_channels_until_it_is_told_to_stop \
	test_chan_serves_fibers_and_threads_in_the_order_they_came test_chan_wait_that_timed_out_leaves_nothing \
	test_client_ends_an_answer_that_is_longer_than_the_caller_allows test_client_never_sleeps_where_a_bit_would_wake_it test_client_receives_a_frame_in_pieces_and_pieces_of_several \
	test_client_sleeps_longer_the_longer_it_waits_and_not_too_long test_client_takes_no_more_than_an_answer_has \
	test_cond_broadcast_is_done_with_it_when_the_last_waiter_leaves test_cond_broadcast_wakes_all_that_wait \
	test_cond_broadcast_under_the_mutex_wakes_threads \
	test_context_goes_on_in_a_thread_or_a_fiber test_context_goes_on_on_any_thread test_descriptor_bad_numbers_are_ebadf \
	test_descriptor_given_late_to_the_poller_keeps_nothing_from_its_next_owner \
	test_descriptor_wait_of_a_thread_blocks_until_ready_or_deadline test_disk_move_that_has_begun_is_not_given_up \
	test_disk_moves_no_bytes_twice_for_those_who_share_an_offset test_event_set_and_reset_at_once_wakes_all_that_waited \
	test_event_wait_times_out_not_before_its_deadline test_fiber_ids_of_two_threads_are_different \
	test_file_gives_a_deadline_and_a_cancellation_their_due_before test_file_open_without_time_attempts_nothing \
	test_file_opened_after_its_caller_has_gone_is_closed test_file_opens_with_the_flags_and_the_mode_that_were_asked_for \
	test_finish_waits_for_a_thread_that_wakes_the_last_fiber test_group_is_waited_for_and_cancelled_by_threads \
	test_inject_loses_nothing_between_threads test_introspect_finds_each_fiber_once_while_others_churn \
	test_join_and_end_meet_and_nothing_is_lost test_labels_are_never_torn test_life_threads_spawn_and_join_at_once \
	test_locals_threads_never_get_the_same_slot test_log_keeps_the_lines_of_threads_apart test_message_datagrams_have_a_sender \
	test_message_waits_and_gives_up_as_every_call test_mutex_may_be_freed_by_the_last_thread_that_unlocks_it \
	test_mutex_order_grants_nobody_who_times_out_or_is_cancelled_meanwhile \
	test_mutex_order_of_fibers_and_threads_is_the_one_in_which_they_came test_mutex_order_passes_over_those_who_have_gone \
	test_mutex_serves_fibers_and_threads_in_the_order_they_came test_name_always_has_an_end_for_a_reader_beside_the_writer \
	test_offload_without_a_thread_fails_and_leaves_nothing_behind test_once_is_run_by_the_next_when_the_thread_exits_in_it \
	test_once_lets_fibers_and_threads_wait_until_it_is_done \
	test_park_is_ended_by_many_threads_at_once test_parker_has_one_winner_among_threads \
	test_parker_waiter_sees_what_the_winner_did_before test_pin_policy_may_change_at_any_time_and_loses_nothing \
	test_poll_await_gives_the_lowest_index_that_is_ready test_poll_await_has_no_limit_of_64_or_1024 \
	test_poll_tells_who_is_ready_without_waiting test_poll_times_out_not_before_its_deadline \
	test_predicate_is_waited_for_by_a_thread test_predicate_is_waited_for_by_many_fibers_and_threads \
	test_promises_of_threads_are_kept_beside_those_who_have_none test_race_cancel_against_posts_loses_no_unit \
	test_race_cancel_against_signals_loses_none test_record_ids_of_many_threads_are_all_different \
	test_record_reader_beside_owners_never_takes_a_torn_one test_registry_clock_set_by_many_never_goes_back \
	test_ring_gives_no_torn_event_while_it_is_written test_runqueue_loses_and_doubles_nothing_under_three_thieves \
	test_rwlock_lets_in_all_readers_before_the_next_writer test_rwlock_trylocks_keep_writers_alone test_select_ends_at_its_deadline \
	test_select_finds_one_of_both_sides_of_one_channel test_select_finds_the_element_that_moves_between_two_channels \
	test_select_finds_the_room_that_moves_between_two_channels test_select_finds_what_moves_among_many_channels \
	test_select_fires_for_a_channel_and_leaves_the_descriptors test_select_fires_for_a_descriptor_and_does_not_read_it \
	test_select_of_a_cancelled_fiber_finds_what_moves test_select_of_a_pinned_fiber_is_cancelled \
	test_select_of_a_pinned_fiber_is_refused_only_where_it_would_wait test_select_race_of_partners_and_deadlines_loses_nothing \
	test_select_race_of_takers_of_every_kind_loses_nothing test_select_waits_for_descriptors_in_a_program_without_runtime \
	test_select_waits_in_all_channels_and_leaves_them test_sem_may_be_freed_by_the_fiber_that_waited \
	test_sem_may_be_freed_by_the_pinned_fiber_that_waited test_sem_may_be_freed_by_the_thread_that_waited \
	test_sem_serves_fibers_and_threads_in_the_order_they_came test_sem_wait_that_timed_out_takes_nothing \
	test_sigpipe_is_not_sent_to_fibers_either test_slabs_are_found_while_others_are_added \
	test_socket_accept_times_out_not_before_its_deadline test_socket_accept_without_a_descriptor_rests_and_tries_again \
	test_socket_connect_to_nobody_is_refused test_socket_connects_and_accepts_on_threads test_stack_has_one_owner_among_threads \
	test_start_of_many_runtimes_at_once test_stream_errors_of_the_system_come_through \
	test_stream_read_gives_what_is_there_and_0_at_the_end test_stream_read_times_out_not_before_its_deadline \
	test_stream_wait_fd_says_which_events test_stream_write_to_nobody_is_epipe_and_no_signal test_sync_barrier_keeps_all_in_step \
	test_sync_barrier_with_deadlines_lets_go_none_but_whole_groups test_sync_cond_passes_every_item_through_a_bounded_buffer \
	test_sync_mutex_guards_a_counter_of_fibers_and_threads test_sync_once_is_done_once_whoever_ends_in_it \
	test_sync_rwlock_lets_in_readers_together_and_writers_alone test_sync_rwlock_with_deadlines_is_left_free \
	test_sync_sem_lets_in_no_more_than_its_count test_table_gives_threads_that_make_one_at_the_same_time_the_same \
	test_thread_does_not_join_itself test_thread_is_joinable_after_a_wait_that_was_given_up \
	test_thread_is_joined_once_however_its_end_and_the_deadline_fall test_thread_joiners_share_the_carriers \
	test_thread_that_ends_later_wakes_its_joiner_and_gives_its_value test_thread_that_has_ended_is_joined_whatever_the_deadline \
	test_thread_without_a_descriptor_is_joined_all_the_same test_timer_armed_by_a_fiber_wakes_a_thread \
	test_timer_armed_by_some_while_others_wait_stays_whole test_timer_is_given_to_every_fiber_and_thread_that_waits \
	test_timers_can_be_dropped_by_another_thread test_tls_is_null_on_a_plain_thread \
	test_tls_is_the_threads_that_runs_the_context_now test_vector_waits_until_bytes_come \
	test_vigil_that_comes_and_goes_is_never_missed test_wait_mixes_fibers_and_threads_and_loses_no_grant \
	test_wait_of_a_fiber_is_won_by_a_wake_up_or_its_deadline_never_both \
	test_wait_of_a_thread_is_won_by_a_wake_up_or_its_deadline_never_both test_waitgroup_wait_times_out_and_leaves_the_count \
	test_waitgroup_wakes_fibers_and_threads_at_once test_wake_of_a_thread_ends_its_sleep
# They fork, run programs, or end the process.
SINGLE_NOT_PROCESSES_TESTS := test_accept_serves_more_than_there_are_descriptors_for test_alloc_guards_what_lies_below \
	test_cancel_of_a_handle_given_back_is_misuse test_check_names_the_place_and_the_promise \
	test_check_that_holds_is_silent_and_looks_once test_detach_and_exit_misused_abort_with_one_line \
	test_die_aborts_even_when_the_program_ignores_it test_die_aborts_without_a_stderr test_die_prints_one_line_and_aborts \
	test_elsewhere_file_is_read_by_two_processes test_elsewhere_file_that_lives_on_elsewhere_wakes_nobody_here \
	test_introspect_dumps_out_of_a_fault_handler test_introspect_looks_from_many_threads_where_peeking_is_forbidden \
	test_io_kinds_pidfd test_io_terminal_that_is_full_holds_up_no_carrier test_join_misused_aborts_with_one_line \
	test_must_have_names_the_caller_the_call_and_what_is_null test_name_server_that_never_answers_holds_nobody_past_the_deadline \
	test_note_in_the_file_leads_to_the_symbol test_note_in_the_shared_library_leads_to_the_exported_symbol \
	test_null_is_named_with_the_call_and_the_fiber test_null_is_named_with_the_call_and_the_thread \
	test_promise_is_kept_or_given_back_and_nobody_else_has_it test_promise_of_a_carrier_is_kept_from_its_cache \
	test_public_context_function_that_returns_aborts test_public_context_that_ended_is_not_switched_to \
	test_public_context_that_ends_in_itself_aborts test_registry_gets_the_record_back_when_there_is_no_stack \
	test_registry_in_a_forked_child_is_empty test_registry_makes_do_with_the_address_space_there_is \
	test_registry_that_cannot_grow_is_as_before test_registry_that_had_no_room_says_what_it_wanted_and_may_start_later \
	test_registry_that_is_full_says_so_and_goes_on test_registry_tries_smaller_ones_and_is_full_at_its_end \
	test_registry_without_address_space_has_no_magic_and_no_records test_relock_aborts_and_names_the_caller_and_the_lock \
	test_sigpipe_does_not_end_who_writes_to_nobody test_sigpipe_does_not_end_who_writes_to_nobody_on_an_older_kernel \
	test_spawn_without_memory_leaves_nothing_behind test_stack_guard_kills_whoever_touches_it \
	test_stack_guards_outnumber_the_mappings_a_process_may_have test_stack_of_locked_memory_is_guarded_too \
	test_stack_without_address_space_is_an_error_and_leaves_the_pool_whole test_stack_without_guard_advice_is_guarded_or_refused \
	test_timer_freed_while_somebody_waits_aborts test_unpin_of_what_is_not_pinned_aborts_with_one_line \
	test_unwind_that_is_not_rethrown_aborts
# Several carriers.
SINGLE_NOT_CARRIERS_TESTS := test_trim_beside_running_fibers_damages_nothing test_trim_waiting_gives_back_what_waiting_fibers_left \
	test_trim_waiting_concerns_a_program_that_sleeps test_trim_waiting_beside_running_fibers_damages_nothing \
	test_deadline_comes_while_its_carrier_computes test_errno_of_another_thread_is_never_a_result \
	test_spare_ones_spread_over_carriers_that_sleep
# A blocking call waits for a fiber, or counts threads; all fibers stand still while it runs.
SINGLE_NOT_BLOCKING := test_block_leaves_the_carriers_to_the_others test_block_past_its_deadline_goes_on_with_its_argument \
	test_cancel_ends_a_wait_of_every_kind_there_is test_cancel_mask_lets_every_kind_of_wait_go_on \
	test_file_open_waits_for_the_other_end_of_a_fifo test_file_read_that_has_begun_is_not_given_up \
	test_file_that_is_closed_before_its_read_begins_is_ebadf test_file_that_is_slow_is_read_by_a_thread_and_the_fiber_parks \
	test_offload_goes_on_when_its_caller_gave_up test_offload_goes_on_when_its_caller_is_cancelled \
	test_offload_grows_to_its_limit_and_the_rest_take_turns test_offload_of_a_pinned_fiber_follows_the_policy \
	test_offload_that_is_firm_ends_with_the_call_and_nothing_else test_offload_threads_end_when_they_had_nothing_to_do_for_long
# Fibers or threads spin until time has passed or a carrier has answered; time stands still while a fiber can run.
SINGLE_NOT_SPINS := test_background_fiber_that_computes_holds_up_the_finish_until_its_deadline test_background_fibers_do_not_keep_the_program \
	test_introspect_dumps_from_a_signal_handler_on_busy_carriers test_park_deadline_against_unpark_gives_each_token_once \
	test_runtimes_one_is_started_and_finished_by_a_fiber_which_parks test_sleep_ends_while_others_keep_every_carrier_busy
# They count on the order in which production runs fibers, or on the steps of a switch; the explorer chooses another one.
SINGLE_NOT_ORDER := test_detach_frees_a_fiber_at_its_end_or_at_once test_early_end_gives_a_value_or_a_negative_error \
	test_fiber_record_knows_its_parent_and_keeps_why_it_failed test_fiber_sequence_is_odd_while_it_runs_and_moves_at_every_switch \
	test_fiber_state_is_that_of_every_step_of_its_life test_join_of_a_dead_fiber_needs_no_time test_join_records_whom_it_waits_for \
	test_pinned_silent_blocks_and_only_counts test_pinned_warn_blocks_and_records_how_long \
	test_runtime_two_at_once_keep_their_fibers_apart test_runtime_without_fibers_is_done_and_finishes \
	test_spawn_in_a_fiber_knows_its_parent test_timer_armed_again_before_a_waiter_runs_loses_no_expiration \
	test_wait_of_a_pinned_fiber_blocks_its_carrier test_wait_queue_wakes_all_fibers_in_the_order_in_which_they_came \
	test_wait_queue_wakes_fibers_in_the_order_in_which_they_came test_wait_writes_what_it_waits_for_into_the_record
# Thousands of fibers, which takes seconds, or more than a million choices.
SINGLE_NOT_SIZE := test_trim_gives_back_the_stacks_of_a_burst test_trim_gives_back_page_tables \
	test_background_fibers_in_great_number_end test_cancel_ends_thousands_of_sleepers test_group_of_thousands_is_cancelled \
	test_many_parked_at_once_are_all_woken test_park_1000_pairs_play_ping_pong
# Operations of io_uring end when the kernel likes: the schedule is not the same twice.
SINGLE_NOT_OPERATIONS := test_op_splices_a_pipe_into_a_socket_and_back test_op_splices_a_pipe_into_a_socket_and_back_in_the_pollers \
	test_op_splices_a_pipe_into_a_socket_and_back_with_poll
# Internet sockets of a schedule have no error queue, and no reset by SO_LINGER.
SINGLE_NOT_SOCKETS := test_drained_socket_tells_of_a_reset test_rare_events_and_ordinary_ones_are_waited_for_side_by_side \
	test_rare_events_of_an_empty_queue_of_errors_are_waited_for_asleep
# They make calls fail that libfiber-test does not make, count ids that a carrier takes together, or ask for what it allows: a runtime in a
# fiber of a schedule.
SINGLE_NOT_REPLACED := test_record_ids_come_one_by_one_when_few_and_together_when_many \
	test_record_ids_that_are_left_are_given_back_if_they_are_the_last \
	test_disk_gives_the_bytes_and_needs_no_thread test_disk_open_that_was_left_leaves_no_descriptor \
	test_pin_warning_is_one_line_a_second_however_many_wait test_run_inside_a_fiber_is_refused \
	test_sched_leaves_the_program_s_signals_to_its_own_threads test_sched_without_enough_threads_leaves_nothing \
	test_spawn_without_memory_for_a_stack_leaves_nothing_behind

SINGLE_ROOMS := base context core io layout life poll runtime sched service stack sync wait watch wire
SINGLE_NOT   := $(SINGLE_NOT_LIBC) $(SINGLE_NOT_CARRIERS) $(SINGLE_NOT_CLOCK) $(SINGLE_NOT_PROCESSES) $(SINGLE_NOT_KERNEL) \
	$(SINGLE_NOT_TLS) $(SINGLE_NOT_MODELS) $(SINGLE_NOT_EMPTY)
SINGLE_LEFT_OUT := $(SINGLE_NOT_THREADS) $(SINGLE_NOT_CARRIERS_TESTS) $(SINGLE_NOT_PROCESSES_TESTS) $(SINGLE_NOT_BLOCKING) $(SINGLE_NOT_SPINS) \
	$(SINGLE_NOT_ORDER) $(SINGLE_NOT_SIZE) $(SINGLE_NOT_OPERATIONS) $(SINGLE_NOT_SOCKETS) $(SINGLE_NOT_REPLACED)
SINGLE_ALL   := $(patsubst tests/%.c,%,$(foreach r,$(SINGLE_ROOMS),$(wildcard tests/unit/$(r)/test_*.c)) $(SYS_SRC))
# With a sanitizer they would show nothing that the tests of libfiber do not show.
SINGLE       := $(if $(SAN),,$(addprefix $(BUILD)/tests/single/,$(filter-out $(SINGLE_NOT),$(SINGLE_ALL))))
SINGLE_OBJ   := $(BUILD)/obj/tests/harness/single/group.o $(BUILD)/obj/single/left_out.o
SINGLE_WRAP  := -Wl,--wrap=_cmocka_run_group_tests,--wrap=sched_yield

$(SINGLE_OBJ): CPPFLAGS += -Ilibfiber-test/seams -Ilibfiber-test -Ilibfiber-test/include
# tests/system/ops.h appends the poller to the names of tests.
$(BUILD)/obj/single/left_out.c: scripts/single.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	@for test in $(SINGLE_LEFT_OUT); do \
		name=$${test%_with_poll}; \
		grep -qrw -e "$${name%_in_the_pollers}" tests/unit tests/system || { echo "scripts/single.mk: no such test: $$test" >&2; exit 1; }; \
	done
	$(Q){ echo 'extern const char *const single_left_out[];' && echo 'const char *const single_left_out[] = {' && \
		printf '"%s",\n' $(SINGLE_LEFT_OUT) && echo '(void *)0};'; } >$@
$(BUILD)/obj/single/left_out.o: $(BUILD)/obj/single/left_out.c
	$(call say,CC,$(call compiled))
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<

$(SINGLE): $(BUILD)/tests/single/%: $(BUILD)/obj/tests/%.o $(SINGLE_OBJ) $(HARNESS_OBJ) $(BUILD)/lib/libfiber-test.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(SINGLE_WRAP) -o $@ $^ -lcmocka $(TEST_LIBS_$(notdir $*)) $(EXPLORE_LIBS)

.PHONY: single
single: $(SINGLE)
	@FIBER_BUILD='$(abspath $(BUILD))' FIBER_SAN= scripts/run-tests.sh $(abspath $(SINGLE))
