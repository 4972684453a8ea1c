package main

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// partitions are led by the first of the brokers, which alters their ISR. They have a topic each, for one window of time.
// No broker's session ends meanwhile, so that nothing but AlterPartition changes them.
type partitions struct {
	mutex   sync.Mutex
	brokers []brokerEpoch
	topics  [][16]byte
	// known: the latest partition epoch of each that a client was told.
	known []int32
}

func (p *partitions) learn(at int, epoch int32) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.known[at] = max(p.known[at], epoch)
}

// draw asks for an ISR with the latest partition epoch, or, now and then, with one before it.
func (p *partitions) draw(rng *rand.Rand, at int) input {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	isr := []string{fmt.Sprint(p.brokers[0].id)}
	for _, follower := range p.brokers[1:] {
		if rng.Intn(2) == 0 {
			isr = append(isr, fmt.Sprint(follower.id))
		}
	}
	epoch := p.known[at]
	if epoch > 0 && rng.Intn(4) == 0 {
		epoch--
	}
	return input{Kind: "alter", Name: fmt.Sprintf("isr-%d", at), Value: strings.Join(isr, ","), Epoch: epoch}
}

// create waits for a controller and until no broker is fenced, then creates the topics: all brokers are in each ISR.
func (p *partitions) create(c *client, count int) {
	for end := time.Now().Add(start); !c.connect() || !p.unfenced(c); {
		if time.Now().After(end) {
			panic("no controller, or a broker is fenced")
		}
		c.letGo()
		time.Sleep(backoff)
	}
	defer c.letGo()
	assigned := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
	for _, broker := range p.brokers {
		assigned.Replicas = append(assigned.Replicas, broker.id)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(start / time.Millisecond)
	for at := range count {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = fmt.Sprintf("isr-%d", at), -1, -1
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, assigned)
		req.Topics = append(req.Topics, topic)
	}
	res, err := c.requestWithin(req, start)
	if err != nil {
		panic(err)
	}
	p.topics, p.known = make([][16]byte, count), make([]int32, count)
	for _, found := range res.(*kmsg.CreateTopicsResponse).Topics {
		var at int
		if _, err := fmt.Sscanf(found.Topic, "isr-%d", &at); err != nil || found.ErrorCode != 0 {
			panic(fmt.Sprintf("%s is not created: error %d", found.Topic, found.ErrorCode))
		}
		p.topics[at] = found.TopicID
	}
}

// unfenced sends a heartbeat of each broker.
func (p *partitions) unfenced(c *client) bool {
	for _, broker := range p.brokers {
		req := kmsg.NewPtrBrokerHeartbeatRequest()
		req.BrokerID, req.BrokerEpoch, req.CurrentMetadataOffset = broker.id, broker.epoch, 1<<50
		res, err := c.request(req)
		if err != nil {
			return false
		}
		if found := res.(*kmsg.BrokerHeartbeatResponse); found.ErrorCode != 0 || found.IsFenced {
			return false
		}
	}
	return true
}

// alter is open where the answer does not tell the state of the partition.
func (p *partitions) alter(c *client, asked input) output {
	open := output{Kind: "open"}
	var at int
	if _, err := fmt.Sscanf(asked.Name, "isr-%d", &at); err != nil {
		panic(err)
	}
	partition := kmsg.NewAlterPartitionRequestTopicPartition()
	partition.PartitionEpoch = asked.Epoch
	for _, broker := range p.brokers {
		if slices.Contains(strings.Split(asked.Value, ","), fmt.Sprint(broker.id)) {
			member := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
			member.BrokerID, member.BrokerEpoch = broker.id, broker.epoch
			partition.NewEpochISR = append(partition.NewEpochISR, member)
			partition.NewISR = append(partition.NewISR, broker.id)
		}
	}
	topic := kmsg.NewAlterPartitionRequestTopic()
	topic.TopicID, topic.Partitions = p.topics[at], append(topic.Partitions, partition)
	req := kmsg.NewPtrAlterPartitionRequest()
	req.BrokerID, req.BrokerEpoch, req.Topics = p.brokers[0].id, p.brokers[0].epoch, append(req.Topics, topic)
	res, err := c.request(req)
	if err != nil {
		return open
	}
	answer := res.(*kmsg.AlterPartitionResponse)
	if answer.ErrorCode != 0 || len(answer.Topics) != 1 || len(answer.Topics[0].Partitions) != 1 {
		return open
	}
	found := answer.Topics[0].Partitions[0]
	if found.ErrorCode == staleEpoch {
		p.learn(at, asked.Epoch+1)
	}
	if found.ErrorCode != 0 {
		return outcome(found.ErrorCode, "")
	}
	// The ISR was this one already: nothing is written, and the answer is a read.
	if found.PartitionEpoch == asked.Epoch && (!c.wrote || c.leadingEpoch() != c.epoch) {
		return open
	}
	p.learn(at, found.PartitionEpoch)
	slices.Sort(found.ISR)
	isr := strings.Trim(strings.ReplaceAll(fmt.Sprint(found.ISR), " ", ","), "[]")
	return output{Kind: "ok", Value: isr, Epoch: found.PartitionEpoch}
}
